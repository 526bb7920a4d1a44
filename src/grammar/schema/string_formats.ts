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

// A label of a host, without two hyphens in a row, as those of other alphabets have them; of up to 31 letters of the 63
// that DNS allows, so that a name of seven labels has no more than 253.
const NAME = '(?:[A-Za-z0-9]-?){0,15}[A-Za-z0-9]';
// As RFC 4291 has it, without an IPv4 address at the end: groups before a run of zeros that is left out, and behind it.
const GROUP = '[0-9A-Fa-f]{1,4}';
const CUT_IPV6 = [1, 2, 3, 4, 5, 6]
  .map((before) => `(?:${GROUP}:){1,${before}}(?::${GROUP}){1,${7 - before}}`)
  .join('|');
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
// As RFC 3339 has it, appendix A: units without a gap between them.
const COUNT = '\\d{1,9}';
const HOURS = `T(?:${COUNT}H(?:${COUNT}M(?:${COUNT}S)?)?|${COUNT}M(?:${COUNT}S)?|${COUNT}S)`;
const MONTHS = `${COUNT}M(?:${COUNT}D)?`;

export const FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  'date-time': `^${DATE}T${TIME}$`,
  time: `^${TIME}$`,
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  uri: `^${SCHEME}(?:${HOST_AND_PATH}|${PATH})${QUERY_AND_FRAGMENT}$`,
  // The first part of a path without a scheme has no colon.
  'uri-reference': `^(?:${SCHEME}(?:${HOST_AND_PATH}|${PATH})|${HOST_AND_PATH}|/(?:${LETTER}${LETTERS})?|(?:${LETTER.replace('@:', '@')}+(?:/${LETTERS})?)?)${QUERY_AND_FRAGMENT}$`,
  hostname: `^(?:${NAME}\\.){0,6}${NAME}$`,
  ipv4: `^(?:${BYTE}\\.){3}${BYTE}$`,
  ipv6: `^(?:(?:${GROUP}:){7}${GROUP}|(?:${GROUP}:){1,7}:|::|:(?::${GROUP}){1,7}|${CUT_IPV6})$`,
  duration: `^P(?:(?:${COUNT}Y(?:${MONTHS})?|${MONTHS}|${COUNT}D)(?:${HOURS})?|${HOURS}|${COUNT}W)$`,
  email: `^${ATOM}(?:\\.${ATOM})?@(?:${LABEL}\\.){1,4}${LABEL}$`,
};
