/** The parts that all bare servers share. `Services.bareServer` forks these servers. */

/** Returns the process's CPU seconds and resident memory in the format of the product's metrics. */
export function metrics(): string {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage().rss}\n`;
}

/** Reports the server's address to the parent process, and exits when the parent does. */
export function serve(url: string): void {
  process.send?.(url);
  process.on('disconnect', () => process.exit(0));
}

/** Returns a function that is true for the step that STEP names and for all steps before it. */
export function doesSteps<Step extends string>(
  stepNames: Readonly<Record<Step, string>>,
): (step: Step) => boolean {
  const steps = Object.keys(stepNames);
  const last = steps.indexOf(process.env['STEP'] ?? '');
  return (step) => steps.indexOf(step) <= last;
}
