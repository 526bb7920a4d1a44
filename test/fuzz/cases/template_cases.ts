// Chat templates: random programs, edited published ones, and repeated pieces.

import { createTokenizer } from '../../../src/text/any_tokenizer';
import { createChatTemplate } from '../../../src/text/template/chat_template';
import { loadProvenance } from '../../../src/text/template/late_provenance';
import type { ChatMessage } from '../../../src/text/template/message';
import { byteLevelJson } from '../../text/tiny_vocabulary';
import type { Loader } from '../loaders';
import type { Random } from '../random';
import { TEMPLATES, templatePrograms } from './template_grammar';

await loadProvenance(); // or a hostile text would get no further

const TOKENIZER = createTokenizer({
  tokenizerJson: byteLevelJson(),
  tokenizerConfig: null,
  generationConfig: null,
  gguf: null,
});

interface TemplateInput {
  source: string;
  conversation: ChatMessage[];
  addGenerationPrompt: boolean;
}

export const templateLoader: Loader<TemplateInput> = {
  name: 'template',
  makeInput(random) {
    const source = random.chance(0.5) ? random.sample(templatePrograms) : editedTemplate(random);
    const conversation = random.pick(CONVERSATIONS);
    return { source, conversation, addGenerationPrompt: random.chance(0.5) };
  },
  prepare({ source, conversation, addGenerationPrompt }) {
    return () => {
      const template = createChatTemplate(source, { bosToken: '<s>', eosToken: '<|end|>' });
      template.render({ messages: conversation }, { addGenerationPrompt });
      template.encode({ messages: conversation }, TOKENIZER).ids;
    };
  },
};

const turn = (role: 'system' | 'user' | 'assistant', content: string) => ({ role, content });
const CONVERSATIONS = [
  [turn('user', 'Hello')],
  [
    turn('system', 'Be brief.\n'),
    turn('user', ' hi <|end|> there '),
    turn('assistant', 'a'),
    turn('user', '(a+)+$ 🙂'),
  ],
  [turn('user', 'a'.repeat(2000))],
];

/** A known template with a piece of another, a missing piece, a repeated piece, or a changed character. */
function editedTemplate(random: Random): string {
  let source = random.pick(TEMPLATES);
  for (let n = 1 + random.int(3); n > 0; n--) {
    const pieces = source.split(/(?=\{[{%])|(?<=[}%]\})/);
    const at = random.int(pieces.length);
    const fresh = [
      () => pieces.toSpliced(at, 1),
      () => pieces.toSpliced(at, 0, random.pick(pieces)),
      () => pieces.toSpliced(at, 1, pieces[at].repeat(random.pick([2, 2, 2, 30, 300]))),
      () => pieces.toSpliced(at, 0, random.sample(templatePrograms)),
      () => pieces.with(at, cut(random, pieces[at])),
    ];
    source = random.pick(fresh)().join('').slice(0, 65_000);
  }
  return source;
}

function cut(random: Random, piece: string): string {
  const at = random.int(piece.length);
  return (
    piece.slice(0, at) +
    random.pick(['', "'", '"', '(', ')', '|', '.', '{{', '%}', '[', '\0', '\ud800', ' not ']) +
    piece.slice(at + 1)
  );
}
