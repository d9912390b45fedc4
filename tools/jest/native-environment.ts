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
  // Keeps Node's own `process.exit`, because Jest replaces that function for each spec file.
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

  /**
   * Returns null, because specs run without a vm context. Jest's functions that would load a module into a
   * context are not used.
   */
  getVmContext(): null {
    return null;
  }
}
