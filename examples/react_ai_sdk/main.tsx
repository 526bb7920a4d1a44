// The AI SDK's useChat without a server: its agent runs in the page, on an engine there.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { useChat } from '@ai-sdk/react';
import { DirectChatTransport, ToolLoopAgent } from 'ai';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Engine } from 'vivace';
import { createFetch } from 'vivace/openai';
import { modelUrl } from 'vivace-storyteller';

const engine = await Engine.load(modelUrl);
const provider = createOpenAICompatible({ name: 'vivace', baseURL: 'http://vivace/v1', fetch: createFetch(engine) });
const transport = new DirectChatTransport({ agent: new ToolLoopAgent({ model: provider('local') }) });

function Chat() {
  const { messages, sendMessage, status, stop } = useChat({ transport });
  const [question, setQuestion] = useState('Tell me a story about a lost key');
  const isBusy = status === 'submitted' || status === 'streaming';
  return (
    <>
      {messages.map(({ id, role, parts }) => (
        <p key={id} className={role}>
          {parts.map((part) => (part.type === 'text' ? part.text : ''))}
        </p>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          sendMessage({ text: question });
          setQuestion('');
        }}
      >
        <input value={question} onChange={({ target }) => setQuestion(target.value)} aria-label="Question" />
        <button type="submit" disabled={isBusy || question === ''}>
          Ask
        </button>
        <button type="button" disabled={!isBusy} onClick={stop}>
          Stop
        </button>
      </form>
    </>
  );
}

const root = document.getElementById('app');
if (root) createRoot(root).render(<Chat />);
