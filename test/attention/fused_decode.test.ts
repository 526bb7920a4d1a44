import { testSibling } from './suite';

testSibling('fused_decode');
