/** Reads the configuration of docs from its environment. */
import { commonEnvironment, parseEnvironment } from '@muster/http';
import { z } from 'zod';

export const environment = {
  ...commonEnvironment,
  /** The port that the server listens on. */
  PORT: commonEnvironment.PORT.default(4104),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(4114),
  /** The folder of the built pages, if they are not next to the program. */
  SITE_FOLDER: z.string().optional(),
};

export type DocsConfig = ReturnType<typeof readConfig>;

export const readConfig = (variables: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, variables);
