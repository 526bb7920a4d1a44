import { testSibling } from './suite';

testSibling('eager', { subgroups: false });
