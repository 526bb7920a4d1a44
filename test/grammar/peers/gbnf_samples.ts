// Grammars whose masks are compared with those of other engines.

export const XGRAMMAR_SAMPLES: Record<string, string> = {
  'letters and digits': 'root ::= [a-z]+ "-" [0-9]+',
  words: 'root ::= item (", " item)*\nitem ::= "red" | "green" | "blue"',
  'a rule within itself': 'root ::= "(" root ")" | "x"',
  sums: 'root ::= term ([+*] term)*\nterm ::= [0-9]+ | "(" root ")"',
  'any JSON': String.raw`root ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (string ":" value ("," string ":" value)*)? "}"
array ::= "[" (value ("," value)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\/bfnrt])* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)?`,
  // In a class, xgrammar takes the last byte of each of these letters.
  'letters beyond ASCII': 'root ::= ("ä" | "ö" | "猫")+ " "? [^a-z]',
  lines: String.raw`root ::= ("- " [^\n]+ "\n")+`,
  dates: 'root ::= [0-9]{4} "-" [01] [0-9] "-" [0-3] [0-9]',
  'an optional end': 'root ::= "a"? "b"{0,3} "!"?',
  'yes or no': 'root ::= ("yes" | "no") "."?',
};

/** Twenty, in what llama.cpp understands. */
export const LLAMA_SAMPLES: Record<string, string> = {
  ...XGRAMMAR_SAMPLES,
  // Bytes within a character cannot be told (storyteller_tokens.ts), so that none may be the only way on.
  'letters beyond ASCII': 'root ::= ("ä" | "ö" | "猫" | "x")+ " "? [^a-z]',
  'moves of chess': String.raw`root ::= "1. " move " " move "\n" ([1-9] [0-9]? ". " move " " move "\n")+
move ::= (pawn | piece | castle) [+#]?
piece ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]
pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?
castle ::= "O-O" "-O"?`,
  'a person with white space': String.raw`root ::= "{" space name "," space age "}"
name ::= "\"name\":" space "\"" [^"\\\x7F\x00-\x1F]{1,12} "\""
age ::= "\"age\":" space ("0" | [1-9] [0-9]{0,2})
space ::= | " " | "\n" [ \t]{0,4}`,
  'a list of list': 'root ::= "[" (root | [0-9]) ("," (root | [0-9]))* "]"',
  'any letters': 'root ::= .{1,6}',
  'no quotes': 'root ::= "\\"" [^"]* "\\""',
  'ranges of letters beyond ASCII': 'root ::= ([ぁ-ゟ] | [à-ü] | [a-z])+ "."',
  'escapes of code points': String.raw`root ::= "\x41" [\x42-\x44]+ "\u00e9"? ("\U0001F600" | "\t")?`,
  'alternatives that begin alike': 'root ::= ("the cat" | "the car" | "then" | "th") (" sat" | " sang")*',
  'comments and lines': 'root ::= ( # one\n  "one"\n  | "two" # two\n  )+ tail?\ntail ::= " " (\n "end" | "stop"\n)',
  'a list with bounds': 'root ::= word (" " word){2,4} [.!?]{1}\nword ::= [A-Z]? [a-z]{2,}',
};
