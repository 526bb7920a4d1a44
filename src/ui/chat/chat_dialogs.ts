// The elements of a chat that nobody needs at its first paint: the settings, and the editor of a question. Whoever
// shows a chat imports them, with it or later.

import '../settings/settings';
import '../turn/turn_editor';
