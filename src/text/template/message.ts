/** A message of a conversation. */
export interface ChatMessage {
  /**
   * Who wrote the content, and so which added tokens of the vocabulary its text may become. `user` and `system`: those that
   * control nothing (letters, runs of spaces, HTML tags); every other token's text is read as letters. `assistant`: also those
   * that an answer shows, such as `<think>` and `<tool_call>`, whoever put the message there; not the tokens that begin or end a
   * turn, which no answer shows. Give an answer back as it came: the chat template itself drops earlier thinking where the model
   * wants that.
   */
  role: 'system' | 'user' | 'assistant';
  content: string;
}
