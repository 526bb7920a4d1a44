// CPU time, for limits that hold on a busy machine.

/** CPU time of this process in ms. Unlike a clock, it excludes the time of other tests. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
