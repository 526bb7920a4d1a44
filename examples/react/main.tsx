// A chat in React 19 and the number of tokens of its answers.

import type { EngineEvent } from 'vivace';
import 'vivace/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { modelUrl } from 'vivace-storyteller';

function App() {
  const [tokens, setTokens] = useState(0);
  const count = ({ detail }: CustomEvent<EngineEvent>) => {
    if (detail.type === 'token') setTokens((before) => before + 1);
  };
  return (
    <>
      <vivace-chat
        model={modelUrl}
        placeholder="Ask for a story"
        settings="sampling"
        examples={['A brave cat', 'A lost key']}
        onvivace-event={count}
      />
      <output>{tokens}</output>
    </>
  );
}

const root = document.getElementById('app');
if (root) createRoot(root).render(<App />);
