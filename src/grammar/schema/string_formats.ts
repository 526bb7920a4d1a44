// Formats of strings as regular expressions. A date is a day of the calendar, with leap years.

const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const DATE =
  '(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))' +
  `|${LEAP_YEAR}-02-29)`;
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)';
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,32}";
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?';

export const FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  'date-time': `^${DATE}T${TIME}$`,
  time: `^${TIME}$`,
  uuid: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  email: `^${ATOM}(?:\\.${ATOM})?@(?:${LABEL}\\.){1,4}${LABEL}$`,
};
