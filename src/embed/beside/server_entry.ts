// embed_server.js: asks the server of a tag with data-server. The tag's script adds this script when a visitor opens
// the chat.

import { handOver } from '../fetch/hand_over';
import { part } from '../server/served_chat';

handOver(part);
