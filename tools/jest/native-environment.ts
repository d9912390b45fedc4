// Jest's environment of a spec: the global scope of Node without a separate context of node:vm.
// `native-runner.ts` has the reason.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

type TimersSetUp = ConstructorParameters<typeof ModernFakeTimers>[0];

export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  // Node's own function, because Jest replaces it for each file.
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

  /** There is no context. The functions of Jest that would load a module into one are not used. */
  getVmContext(): null {
    return null;
  }
}
