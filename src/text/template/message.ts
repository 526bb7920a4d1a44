/** A message of a conversation. */
export interface ChatMessage {
  /**
   * The author of the content, which decides the added tokens that its text may become. `user` and `system`: only
   * harmless ones (letters, runs of spaces, HTML tags); the text of any other token is read as letters. `assistant`:
   * also those that an answer shows, such as `<think>` and `<tool_call>`, regardless of the message's origin, but no
   * tokens that begin or end a turn. Pass answers back unchanged: the chat template drops earlier thinking if the model
   * wants that.
   */
  role: 'system' | 'user' | 'assistant';
  content: string;
}
