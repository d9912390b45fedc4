/** Reads the configuration of the console from its environment. */
import { commonEnvironment, parseEnvironment } from '@muster/http';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** The port on which the console listens. */
  PORT: commonEnvironment.PORT.default(4106),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4116),
  /** The folder of the built pages, if they are not next to the program. */
  SITE_FOLDER: z.string().optional(),
};

export type ConsoleConfig = ReturnType<typeof readConfig>;

export const readConfig = (variables: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, variables);
