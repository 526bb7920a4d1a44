// All checks of clients by name, for the page that runs them and for the test that lists them.

import { AI_CHECKS } from './ai_checks';
import { ERROR_CHECKS } from './error_checks';
import { LANGCHAIN_CHECKS } from './langchain_checks';
import { OPENAI_CHECKS } from './openai_checks';
import { OPENAI_TOOL_CHECKS } from './openai_tool_checks';
import type { Checks } from './place';

export const CHECKS: Checks = {
  ...OPENAI_CHECKS,
  ...OPENAI_TOOL_CHECKS,
  ...ERROR_CHECKS,
  ...AI_CHECKS,
  ...LANGCHAIN_CHECKS,
};
