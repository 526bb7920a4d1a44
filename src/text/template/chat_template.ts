// Messages to the text that the model was trained on, and that text to ids such that nothing a person typed becomes a
// control token (authors.ts, provenance.ts).

import type { Tokenizer } from '../tokenizer';
import { Budget } from './jinja/fuel';
import { type Edges, type Program, readProgram } from './jinja/program';
import { runAuthored } from './late_provenance';
import type { ChatRequest } from './message';
import { type ChatPrompt, checkTraits, needsTraits, openThought, type PromptRequest, promptOf } from './prompt_end';
import type { ChatSyntax, Probe } from './syntax/chat_syntax';
import { readTraits, type TemplateTraits } from './syntax/template_traits';
import { showsSystemMessage, systemIntoUser } from './system_message';
import { type Mark, variablesOf } from './variables';

export interface ChatTemplate {
  render(request: ChatRequest, options: { addGenerationPrompt: boolean }): string;
  /**
   * The conversation up to the assistant's answer.
   * @throws MissingPartError for the first message that could forge a token, outside `withProvenance`
   */
  encode(request: ChatRequest, tokenizer: Tokenizer): ChatPrompt;
  /** The template's syntax of thinking and calls, found at the first use. */
  readonly syntax: ChatSyntax;
}

export function createChatTemplate(source: string, tokens: Edges): ChatTemplate {
  const run = readProgram(source, tokens);

  let knowsSystem: boolean | null = null;
  let known: TemplateTraits | null = null;
  const traits = () => {
    known ??= readTraits(proberOf(run), source);
    return known;
  };

  /** The request as the template takes it. */
  function adapted(request: PromptRequest): { request: PromptRequest; forms: TemplateTraits | null } {
    const forms = needsTraits(request) ? traits() : known;
    if (forms) checkTraits(request, forms);
    const { messages, thinking = 'auto', toolChoice, templateArguments } = request;
    if (messages.some(({ role }) => role === 'system')) knowsSystem ??= showsSystemMessage(proberOf(run));
    const variables = thinking === 'auto' ? null : forms?.switches?.[thinking];
    return {
      forms,
      request: {
        ...request,
        messages: knowsSystem === false ? systemIntoUser(messages) : messages,
        tools: toolChoice === 'none' ? [] : request.tools,
        templateArguments: { ...templateArguments, ...variables },
      },
    };
  }

  return {
    render(given, { addGenerationPrompt }) {
      const { request, forms } = adapted(given);
      const texts: string[] = [];
      const variables = variablesOf(request, forms, (text) => {
        texts.push(text);
        return text;
      });
      const budget = new Budget(given.messages.length, texts);
      return run({ ...variables, add_generation_prompt: addGenerationPrompt }, budget);
    },

    encode(given, tokenizer) {
      traits(); // a prompt may end with opened thinking
      const { request, forms } = adapted(openThought(given));
      const texts: string[] = [];
      let forges = false;
      const { thought, toolChoice = 'auto' } = request;
      // What follows a rendered text could complete a token, too.
      const within = thought === undefined && toolChoice === 'auto' ? new Set<string>() : undefined;
      const look: Mark = (text, author) => {
        texts.push(text);
        forges ||= tokenizer.couldForge(text, author, within);
        return text;
      };
      const marked = (mark: Mark) => {
        return { ...variablesOf(request, forms, mark), add_generation_prompt: !request.continueLast };
      };
      const variables = marked(look);
      const budget = new Budget(request.messages.length, texts);
      if (!forges) {
        const rendered = run(variables, budget);
        for (const token of within ?? []) forges ||= rendered.includes(token);
        if (!forges) return promptOf(request, forms, rendered, null, tokenizer);
      }
      const rendering = { variables, marked, texts: [source, ...texts], budget };
      const { text, authors } = runAuthored(run, rendering, tokenizer);
      return promptOf(request, forms, text, authors, tokenizer);
    },

    get syntax() {
      return traits().syntax;
    },
  };
}

/** Renders made-up conversations, all within one budget. */
function proberOf(run: Program): Probe {
  const budget = new Budget();
  return (variables) => {
    try {
      return run(variables, budget);
    } catch {
      return null;
    }
  };
}
