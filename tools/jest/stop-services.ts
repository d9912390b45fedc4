// Jest's globalTeardown. It shares this module's state with the globalSetup, which runs in the same process.
interface Stoppable {
  stop: () => Promise<void>;
}

const started: Stoppable[] = [];

export function stopLater(service: Stoppable): void {
  started.push(service);
}

export default async function stopServices(): Promise<void> {
  await Promise.all(started.splice(0).map((service) => service.stop()));
}
