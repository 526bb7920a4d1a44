// Formats of strings as regular expressions. A date is a day of the calendar, with leap years.

const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const DATE =
  '(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))' +
  `|${LEAP_YEAR}-02-29)`;
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)';
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,32}";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?';
// As RFC 3986 has them, of ASCII, without a user and without an IPv6 address.
const SCHEME = '[A-Za-z][A-Za-z0-9+.-]*:';
const LETTER = "(?:[A-Za-z0-9._~!$&'()*+,;=@:-]|%[0-9A-Fa-f]{2})";
const LETTERS = `(?:${LETTER}|/)*`;
const HOST_AND_PATH = `//[A-Za-z0-9.-]+(?::\\d{1,5})?(?:/${LETTERS})?`;
const PATH = `/?(?:${LETTER}${LETTERS})?`;
const QUERY_AND_FRAGMENT = `(?:\\?(?:${LETTER}|[/?])*)?(?:#(?:${LETTER}|[/?])*)?`;

export const FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  'date-time': `^${DATE}T${TIME}$`,
  time: `^${TIME}$`,
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  uri: `^${SCHEME}(?:${HOST_AND_PATH}|${PATH})${QUERY_AND_FRAGMENT}$`,
  // The first part of a path without a scheme has no colon.
  'uri-reference': `^(?:${SCHEME}(?:${HOST_AND_PATH}|${PATH})|${HOST_AND_PATH}|/(?:${LETTER}${LETTERS})?|(?:${LETTER.replace('@:', '@')}+(?:/${LETTERS})?)?)${QUERY_AND_FRAGMENT}$`,
  email: `^${ATOM}(?:\\.${ATOM})?@(?:${LABEL}\\.){1,4}${LABEL}$`,
};
