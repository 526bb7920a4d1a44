// The chat template of the chain model: that of Qwen3 with calls, results and thinking, and at the end of the generation
// prompt the token that begins the chosen script.

import type { Script } from './chain_model';

const TOOLS = String.raw`{%- if tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\n\n' }}{%- endif %}
{{- '# Tools\n\nYou may call these functions:\n<tools>' }}
{%- for tool in tools %}{{- '\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\n</tools>\n\nAnswer with the name and the arguments of each call as JSON within <tool_call></tool_call>.<|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
`;

const ASSISTANT = String.raw`
{{- '<|im_start|>assistant\n' }}
{%- if message.reasoning_content and (loop.last or loop.index0 > ns.last_query) %}
{{- '<think>\n' + message.reasoning_content.strip('\n') + '\n</think>\n\n' }}
{%- endif %}
{{- content }}
{%- if message.tool_calls %}
{%- for call in message.tool_calls %}
{%- if (loop.first and content) or not loop.first %}{{- '\n' }}{%- endif %}
{%- if call.function %}{%- set call = call.function %}{%- endif %}
{{- '<tool_call>\n{"name": "' + call.name + '", "arguments": ' }}
{%- if call.arguments is string %}{{- call.arguments }}{%- else %}{{- call.arguments | tojson }}{%- endif %}
{{- '}\n</tool_call>' }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\n' }}
`;

const MESSAGES = String.raw`{%- set ns = namespace(last_query=-1) %}
{%- for message in messages %}
{%- if message.role == 'user' %}{%- set ns.last_query = loop.index0 %}{%- endif %}
{%- endfor %}
{%- for message in messages %}
{%- set content = message.content if message.content is string else '' %}
{%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
{{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
{%- elif message.role == 'assistant' %}${ASSISTANT}
{%- elif message.role == 'tool' %}
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}
{{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\n' }}{%- endif %}
{%- endif %}
{%- endfor %}
`;

/** `startOf`: the token that begins the script of a name. */
export function chainTemplate(scripts: readonly Script[], startOf: (name: string) => string): string {
  const choices = scripts.map(
    ({ name, when }, i) => `{%- ${i === 0 ? 'if' : 'elif'} ${when} %}{{- '${startOf(name)}' }}\n`,
  );
  return String.raw`${TOOLS}${MESSAGES}{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\n' }}
{%- set thinking = not (enable_thinking is defined and enable_thinking is false) %}
{%- if not thinking %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}
{%- set last = messages[-1] %}
{%- set asked = last.content if last.content is string else '' %}
${choices.join('')}{%- endif %}
{%- endif %}`;
}
