import { testSibling } from './suite';

testSibling('cpu', { subgroups: false });
