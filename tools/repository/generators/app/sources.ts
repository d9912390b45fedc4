export interface AppOptions {
  readonly name: string;
  readonly description: string;
  /** The name of a team in CODEOWNERS. */
  readonly owner: string;
}

/** Returns the source files of a new app, by path. */
export function sourcesOf(
  { name, description }: Pick<AppOptions, 'name' | 'description'>,
  port: number,
  metricsPort: number,
  dependencies: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const words = name.split('-').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  const create = `create${words.join('')}`;
  return {
    'package.json': JSON.stringify({
      name: `@muster/${name}`,
      version: '0.0.0',
      private: true,
      type: 'module',
      dependencies,
      nx: {
        tags: ['type:app', `scope:${name}`],
        targets: { build: {}, serve: {}, typecheck: {}, lint: {}, test: {} },
      },
    }),
    'README.md': `# apps/${name}

${description}.

**Start reading** at \`src/app.ts\`.
`,
    'tsconfig.json': '{ "extends": "../../tsconfig.base.json", "include": ["src", "test"] }\n',
    'src/config.ts': `/** Reads the configuration of ${name} from its environment. */
import { commonEnvironment, parseEnvironment } from '@muster/http';

export const environment = {
  ...commonEnvironment,
  /** The port that it listens on. */
  PORT: commonEnvironment.PORT.default(${port}),
  METRICS_PORT: commonEnvironment.METRICS_PORT.default(${metricsPort}),
};

export type Config = ReturnType<typeof readConfig>;

export const readConfig = (from: Record<string, string | undefined> = process.env) =>
  parseEnvironment(environment, from);
`,
    'src/app.ts': `import { createService, internalError, type Service } from '@muster/http';
import { type Logger } from 'pino';

export const ${create} = (logger: Logger): Service =>
  createService({
    name: '${name}',
    logger,
    // The dependencies that /readyz checks.
    checks: [],
    maxInFlight: 200,
    trustProxy: false,
    toApiError: internalError,
  });
`,
    'src/main.ts': `import { defineService, runServices } from '@muster/http';
import { ${create} } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('${name}', readConfig, (_config, logger) => ({
  service: ${create}(logger),
}));

if (import.meta.main) await runServices([startService]);
`,
    'test/app.spec.ts': `import { expect, it } from '@jest/globals';
import { createLogger } from '@muster/http';
import { ${create} } from '../src/app.ts';

it('answers that it lives, and is ready', async () => {
  const service = ${create}(createLogger('${name}', 'silent'));
  try {
    for (const url of ['/livez', '/readyz']) {
      const { statusCode } = await service.app.inject({ url });
      expect([url, statusCode]).toEqual([url, 200]);
    }
  } finally {
    await service.stop();
  }
});
`,
  };
}
