/** Tests the clients in compiled languages against the shared test vectors and against the service. */
import { existsSync } from 'node:fs';
import { cp, glob, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  clients,
  expectGuideWorks,
  isInstalled,
  lives,
  openHome,
  guideProgramOf,
  run,
  type ProgramOutput,
  vectors,
} from './client-lives.ts';

/** The time limit of a build. A compiler with cold caches is slow while other specs run. */
const buildMillis = 300_000;

const hasGo = isInstalled('go', 'version');
/** The folder in which Debian installs sources of crates. On other systems cargo needs them in its own cache. */
const cratesOfSystem = '/usr/share/cargo/registry';
const crates = existsSync(path.join(cratesOfSystem, 'ring-0.16.20'))
  ? [
      ...['--config', 'source.crates-io.replace-with="system"'],
      ...['--config', `source.system.directory="${cratesOfSystem}"`],
    ]
  : [];
const hasRust = isInstalled(
  'cargo',
  ...['fetch', '--offline', ...crates, '--manifest-path', path.join(clients, 'rust/Cargo.toml')],
);
/** True if Swift can build offline. On Linux it needs swift-crypto in its cache, because only Apple has CryptoKit. */
const hasSwift = isInstalled(
  'swift',
  'package',
  '--package-path',
  path.join(clients, 'swift'),
  'show-dependencies',
);
const hasMono = isInstalled('mcs', '--version') && isInstalled('mono', '--version');

const clientHome = openHome();
const { machines, home } = clientHome;

const words = (folder: string, what: string, given?: string): string[] => [
  ...[machines().middle.url, folder, what],
  ...(given === undefined ? [] : [given]),
];

(hasGo ? describe : describe.skip)('Go (go, 1.19 or newer)', () => {
  const folder = path.join(clients, 'go');
  const go = (args: readonly string[], where = folder): Promise<ProgramOutput> =>
    run('go', args, { folder: where, env: { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' } });
  const program = (): string => path.join(home(), 'try-go');

  beforeAll(async () => {
    expect(await go(['build', '-o', program(), './try'])).toEqual({ code: 0, out: '' });
  }, buildMillis);

  it(
    'finds what the vectors say, and has nothing that the compiler doubts',
    async () => {
      expect(await go(['vet', './...'])).toEqual({ code: 0, out: '' });
      const said = await go(['test', '-count=1', '-v', './musterlicense']);
      expect(said).toEqual({ code: 0, out: expect.stringMatching(/(\d+ cases[^]*){5}/) });
    },
    buildMillis,
  );

  it(
    'runs as the guide says',
    async () => {
      const own = await mkdtemp(path.join(home(), 'guide-go-'));
      await cp(path.join(folder, 'go.mod'), path.join(own, 'go.mod'));
      await cp(path.join(folder, 'musterlicense'), path.join(own, 'musterlicense'), { recursive: true });
      await writeFile(path.join(own, 'main.go'), await guideProgramOf('Go'));
      expect(await go(['build', '-o', 'app', '.'], own)).toEqual({ code: 0, out: '' });
      await expectGuideWorks(clientHome, [path.join(own, 'app')]);
    },
    buildMillis,
  );

  lives(clientHome, (kept, what, given, env = {}) => run(program(), words(kept, what, given), { env }));
});

(hasRust ? describe : describe.skip)('Rust (cargo, 1.65 or newer, with ring, ureq and serde_json)', () => {
  const folder = path.join(clients, 'rust');
  const cargo = (command: string, ...args: string[]): Promise<ProgramOutput> =>
    run('cargo', [command, '--quiet', '--offline', ...crates, ...args], {
      folder,
      env: { CARGO_TARGET_DIR: path.join(home(), 'rust'), RUSTFLAGS: '-D warnings' },
    });
  const program = (): string => path.join(home(), 'rust/debug/examples/try');

  beforeAll(async () => {
    expect(await cargo('build', '--example', 'try')).toEqual({ code: 0, out: '' });
  }, buildMillis);

  it(
    'finds what the vectors say',
    async () => {
      const said = await cargo('test', '--lib', '--', '--nocapture', '--test-threads=1');
      expect(said).toEqual({ code: 0, out: expect.stringMatching(/(\d+ cases[^]*){6}5 passed/) });
    },
    buildMillis,
  );

  lives(clientHome, (kept, what, given, env = {}) => run(program(), words(kept, what, given), { env }));
});

(hasSwift ? describe : describe.skip)('Swift (swift, 5.9 or newer, on Linux with swift-crypto)', () => {
  const own = (): string => path.join(home(), 'swift');
  const swift = (command: string, ...args: string[]): Promise<ProgramOutput> =>
    run('swift', [command, '--package-path', own(), ...args], { env: { LICENSE_VECTORS: vectors } });
  const program = (): string => path.join(own(), '.build/debug/Try');

  beforeAll(async () => {
    await cp(path.join(clients, 'swift'), own(), { recursive: true });
    expect(await swift('build')).toMatchObject({ code: 0 });
  }, buildMillis);

  it(
    'finds what the vectors say',
    async () => {
      expect(await swift('test')).toEqual({ code: 0, out: expect.stringMatching(/(\d+ cases[^]*){6}/) });
    },
    buildMillis,
  );

  lives(clientHome, (kept, what, given, env = {}) => run(program(), words(kept, what, given), { env }));
});

(hasMono ? describe : describe.skip)('C# (mcs and mono, 6 or newer)', () => {
  const program = (): string => path.join(home(), 'try.exe');

  /** Compiles the client with a main program: `Try.cs` or another file. */
  const build = async (out: string, main = 'Try.cs'): Promise<void> => {
    const files = [path.resolve(clients, 'csharp', main)];
    for await (const file of glob(path.join(clients, 'csharp/*.cs'))) {
      if (path.basename(file) !== 'Try.cs') files.push(file);
    }
    const args = [
      '-langversion:7',
      '-warn:4',
      '-warnaserror',
      '-r:System.Net.Http.dll',
      '-r:System.Numerics.dll',
    ];
    expect(await run('mcs', [...args, `-out:${out}`, ...files])).toEqual({ code: 0, out: '' });
  };

  beforeAll(() => build(program()), buildMillis);

  it(
    'runs as the guide says',
    async () => {
      const main = path.join(home(), 'Program.cs');
      const out = path.join(home(), 'guide.exe');
      await writeFile(main, await guideProgramOf('C#'));
      await build(out, main);
      await expectGuideWorks(clientHome, ['mono', out]);
    },
    buildMillis,
  );

  it('finds what the vectors say', async () => {
    const said = await run('mono', [program(), 'vectors', vectors]);
    expect(said).toEqual({ code: 0, out: expect.stringMatching(/^\d+ cases$/) });
  });

  lives(clientHome, (kept, what, given, env = {}) =>
    run('mono', [program(), ...words(kept, what, given)], { env }),
  );
});
