/** Commands that publish and yank releases, and say which of them licenses may download. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { formatMinute } from '@muster/terminal';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultProduct } from '../operators/products.ts';
import {
  listReleases,
  publishRelease,
  setDownloads,
  setLicenseUpdates,
  yankRelease,
} from '../operators/releases.ts';
import { durationSecondsOf } from '../operators/spans.ts';
import { inReadOnlyTransaction, inTransaction, RefusedError } from '../operators/transaction.ts';
import { downloadKeyOf } from '../releases/downloads.ts';
import {
  fileNamePattern,
  NotesUrl,
  platformPattern,
  type ReleaseArtifact,
  type ReleaseChannel,
  releaseChannels,
  UpdatePolicy,
} from '../releases/records.ts';
import {
  addIdOption,
  addProductOption,
  errorMessageOf,
  type LicenseCommand,
  listOutput,
  numberOption,
  productOption,
  readLicenseRef,
  textOption,
} from './command.ts';
import { collectOption, listOption } from './features.ts';
import { licenseOutput } from './shown.ts';
import { parseCount } from './term.ts';

type NamedFile = readonly [platform: string, file: string];

function parseArtifactOption(optionText: string): NamedFile {
  const [, platform = '', file = ''] = /^([^=]*)=(.+)$/s.exec(optionText) ?? [];
  if (platformPattern.test(platform) && fileNamePattern.test(path.basename(file))) return [platform, file];
  throw new InvalidArgumentError('It must be a platform and a file: linux-x64=dist/app-linux.tar.gz.');
}

/** Reads the size and the digest of a file. */
async function readArtifact([platform, file]: NamedFile): Promise<ReleaseArtifact> {
  const digest = createHash('sha256');
  let size = 0;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      digest.update(chunk);
      size += chunk.length;
    }
  } catch (error) {
    throw new RefusedError('artifacts', `${file} cannot be read: ${errorMessageOf(error)}`);
  }
  return { name: path.basename(file), platform, size, sha256: digest.digest('hex') };
}

/** Parses an update policy: `all`, or parts such as `365d,max=2,after-expiry`. */
export function parseUpdatePolicy(policyText: string): UpdatePolicy {
  if (policyText === 'all') return {};
  const policy: Record<string, unknown> = {};
  for (const part of policyText.split(',')) {
    const [name, value] =
      part === 'after-expiry'
        ? ['afterExpiry', true]
        : part.startsWith('max=')
          ? ['maxVersion', part.slice('max='.length)]
          : ['for', durationSecondsOf(part)];
    if (value === undefined || name in policy) throw updatePolicyError();
    policy[name] = value;
  }
  const parsed = UpdatePolicy.safeParse(policy);
  if (parsed.success) return parsed.data;
  throw updatePolicyError();
}

const updatePolicyError = (): InvalidArgumentError =>
  new InvalidArgumentError('It must be "all", or parts such as 365d,max=2,after-expiry.');

export const addUpdatesOption = (command: Command): Command =>
  command.option(
    '--updates <policy>',
    'which releases can be downloaded: all; or 365d (published within that time after the activation), max=2, after-expiry',
    parseUpdatePolicy,
  );

const releaseAddCommand: LicenseCommand = {
  name: 'releases add',
  description: 'Publish a release; upload its files to <version>/<name> on your server first',
  configure: (it) =>
    addProductOption(it)
      .argument('<version>', 'by Semantic Versioning: 1.4.0')
      .addOption(new Option('--channel <channel>', 'the channel').choices(releaseChannels).default('stable'))
      .requiredOption(
        '--artifact <file>',
        'a platform and a local file, to read its size and SHA-256: linux-x64=app.tar.gz; repeatable',
        collectOption(parseArtifactOption),
      )
      .option('--notes <url>', 'the address of the release notes'),
  run: async ({ pool }, options, [version = '']) => {
    const notesUrl = textOption(options, 'notes') ?? null;
    if (notesUrl !== null && !NotesUrl.safeParse(notesUrl).success)
      throw new RefusedError('notes', 'the address of the release notes must be an http or https address');
    const artifacts: ReleaseArtifact[] = [];
    for (const one of listOption(options, 'artifact') as readonly NamedFile[])
      artifacts.push(await readArtifact(one));
    const channel = textOption(options, 'channel') as ReleaseChannel;
    const product = productOption(options) ?? defaultProduct;
    const { release, isRepeated } = await inTransaction(pool, (db) =>
      publishRelease(db, { product, version, channel, notesUrl, artifacts }),
    );
    return {
      json: { release, isRepeated },
      lines: [
        `${product} ${version} ${isRepeated ? 'was already' : 'is'} published in ${channel}:`,
        ...artifacts.map(
          ({ name, platform, size, sha256 }) => `  ${version}/${name}  ${platform}, ${size} bytes, ${sha256}`,
        ),
      ],
    };
  },
};

const maxListedReleases = 200;

const releaseListCommand: LicenseCommand = {
  name: 'releases list',
  description: 'List the releases of a product, the last published first',
  configure: (it) =>
    addProductOption(it)
      .option('--limit <number>', `how many; by default 50, at most ${maxListedReleases}`, parseCount)
      .option('--after <version>', 'continue after this version'),
  run: async ({ pool }, options) => {
    const limit = Math.min(numberOption(options, 'limit') ?? 50, maxListedReleases);
    const page = {
      product: productOption(options) ?? defaultProduct,
      after: textOption(options, 'after'),
      limit,
    };
    return listOutput(await inReadOnlyTransaction(pool, (db) => listReleases(db, page)), {
      VERSION: ({ version }) => version,
      CHANNEL: ({ channel }) => channel,
      PUBLISHED: ({ publishedAt }) => formatMinute(publishedAt),
      PLATFORMS: ({ artifacts }) => [...new Set(artifacts.map(({ platform }) => platform))].join(', '),
      YANKED: ({ yankedAt, yankReason }) =>
        yankedAt === null ? '-' : `${formatMinute(yankedAt)}${yankReason === null ? '' : `, ${yankReason}`}`,
    });
  },
};

const releaseYankCommand: LicenseCommand = {
  name: 'releases yank',
  description: 'Stop offering a release; signed addresses stay valid for up to five minutes',
  configure: (it) =>
    addProductOption(it)
      .argument('<version>', 'the version')
      .option('--reason <text>', 'the reason, for operators'),
  run: async ({ pool }, options, [version = '']) => {
    const reason = textOption(options, 'reason') ?? null;
    if (reason !== null && reason.length > 512) throw new RefusedError('reason', 'the reason is too long');
    const product = productOption(options) ?? defaultProduct;
    const release = await inTransaction(pool, (db) => yankRelease(db, { product, version, reason }));
    return { json: { release }, lines: [`${product} ${version} is not offered anymore.`] };
  },
};

const releasePolicyCommand: LicenseCommand = {
  name: 'releases policy',
  description: 'Set which releases a license may download, in place of the policy of its plan',
  configure: (it) =>
    addUpdatesOption(addIdOption(it)).option('--no-updates', 'use the policy of the plan again'),
  run: async (context, options) => {
    const updates = options['updates'];
    if (updates === undefined) throw new RefusedError('no_policy', 'give --updates or --no-updates');
    const ref = await readLicenseRef(context, options);
    return licenseOutput(
      await inTransaction(context.pool, (db) =>
        setLicenseUpdates(db, ref, updates === false ? null : (updates as UpdatePolicy)),
      ),
    );
  },
};

const releaseDownloadsCommand: LicenseCommand = {
  name: 'releases downloads',
  description:
    'Set where the files of a product are, and show the secret with which your server checks addresses',
  configure: (it) =>
    addProductOption(it)
      .option(
        '--url <template>',
        'https://downloads.example.com/{file}?expires={expires}&signature={signature}',
      )
      .option('--no-url', 'sign no addresses')
      .option('--new-key', 'replace the secret'),
  run: async ({ pool, secrets }, options) => {
    const product = productOption(options) ?? defaultProduct;
    const downloadsUrl = options['url'] === false ? null : textOption(options, 'url');
    const isNewKey = options['newKey'] === true;
    const settings = await inTransaction(pool, (db) => setDownloads(db, product, { downloadsUrl, isNewKey }));
    const key = downloadKeyOf((await secrets()).seals, settings);
    return {
      json: { ...settings, key },
      lines: [
        settings.downloadsUrl === null
          ? `${product} has no address of files.`
          : `Files of ${product}: ${settings.downloadsUrl}`,
        `The secret of your server: ${key}`,
      ],
    };
  },
};

export const releaseCommands = [
  releaseAddCommand,
  releaseListCommand,
  releaseYankCommand,
  releasePolicyCommand,
  releaseDownloadsCommand,
];
