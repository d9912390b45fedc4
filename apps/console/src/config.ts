/** What console takes from its environment. */
import { commonEnvironment, parseEnvironment } from '@muster/http';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** The port it listens on. */
  PORT: commonEnvironment.PORT.default(4106),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4116),
  /** Where the built pages are, if not beside the program. */
  SITE_FOLDER: z.string().optional(),
};

export type Config = ReturnType<typeof readConfig>;

export const readConfig = (from: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, from);
