// The values that specs import as `@jest/globals`. They belong to the spec that is being loaded.
import { globalsOfSpec } from './native-runner.ts';

export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } =
  globalsOfSpec();
