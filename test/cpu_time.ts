/** Milliseconds of CPU time that this process has used: unlike a clock, it does not count what other tests take. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
