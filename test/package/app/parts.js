// A page with a chat, which imports its texts in German, its colors of code and its math when it needs them.

import 'vivace/elements';
