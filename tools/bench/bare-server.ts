/** What all bare servers have besides what they are there for. They are forked by `Services.bareServer`. */

/** The two numbers that are read of the product's servers too, in the same words. */
export function metrics(): string {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage().rss}\n`;
}

/** Says where it listens to the process that forked it, and ends with that. */
export function serve(url: string): void {
  process.send?.(url);
  process.on('disconnect', () => process.exit(0));
}

/** Whether the server does a step: the one that STEP names, or one before it. */
export function doesSteps<Step extends string>(
  stepNames: Readonly<Record<Step, string>>,
): (step: Step) => boolean {
  const steps = Object.keys(stepNames);
  const last = steps.indexOf(process.env['STEP'] ?? '');
  return (step) => steps.indexOf(step) <= last;
}
