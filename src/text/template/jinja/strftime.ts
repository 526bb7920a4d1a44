// Python's strftime in English, regardless of the browser's language.

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

export function strftime(date: Date, format: string): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const parts: Record<string, () => string> = {
    Y: () => String(date.getFullYear()),
    y: () => two(date.getFullYear() % 100),
    m: () => two(date.getMonth() + 1),
    d: () => two(date.getDate()),
    B: () => MONTHS[date.getMonth()],
    b: () => MONTHS[date.getMonth()].slice(0, 3),
    A: () => DAYS[date.getDay()],
    a: () => DAYS[date.getDay()].slice(0, 3),
    H: () => two(date.getHours()),
    I: () => two(date.getHours() % 12 || 12),
    p: () => (date.getHours() < 12 ? 'AM' : 'PM'),
    M: () => two(date.getMinutes()),
    S: () => two(date.getSeconds()),
    '%': () => '%',
  };
  return format.replace(/%(-?)([A-Za-z%])/g, (whole, bare: string, letter: string) => {
    const part = parts[letter]?.() ?? whole;
    return bare ? part.replace(/^0(?=\d)/, '') : part; // `%-d`: without the zero
  });
}
