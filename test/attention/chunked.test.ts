import { testSibling } from './suite';

testSibling('chunked', { subgroups: false });
