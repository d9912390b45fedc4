// Jest's environment of a spec: Node as it is, no context of node:vm beside it. `native-runner.ts` says why.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

type TimersSetUp = ConstructorParameters<typeof ModernFakeTimers>[0];

export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  // Jest puts one of its own over it, for each file.
  readonly #exit = process.exit.bind(process);

  constructor({ projectConfig }: { projectConfig: TimersSetUp['config'] }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {
    await Promise.resolve();
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    process.exit = this.#exit;
    await Promise.resolve();
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  /** There is none: whatever would load a module into it is not used. */
  getVmContext(): null {
    return null;
  }
}
