import { testSibling } from './suite';

testSibling('flash_prefill');
