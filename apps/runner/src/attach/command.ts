/** The command `muster attach`: uploads files to a story, an execution or a run. */
import { type Client } from '@muster/client';
import { type Attachment, attachmentKinds, type AttachmentKind } from '@muster/contract';
import { terminalSafeJson, sanitizeForTerminal, UsageError } from '@muster/terminal';
import { type Command, Option } from 'commander';
import { type ApiAccess } from '../api-access.ts';
import { type AttachmentTargetRef, readFileToAttach, requireAttachable, uploadFile } from './upload.ts';

interface AttachFlags {
  readonly story?: string;
  readonly execution?: string;
  /** True for the run that started this command. */
  readonly run?: string | true;
  readonly kind?: AttachmentKind;
  readonly head?: string;
  readonly json?: boolean;
}

export function configureAttachCommand(command: Command, api: ApiAccess): void {
  api
    .addFlags(
      command
        .description(
          'Uploads files as attachments. An agent started by muster work needs no flags: its files go to its own execution. The kind follows from the name of the file: JUnit and TAP reports, coverage, screenshots, videos and logs are evidence about the head, everything else is a file.',
        )
        .argument('<files...>', 'the files, at most 50 MiB each')
        .option('--story <story>', 'attach to this story, such as WEB-12')
        .option('--execution <id>', 'attach to this execution')
        .option('--run [id]', 'attach to the execution of this run; by default of MUSTER_RUN_ID')
        .addOption(
          new Option('--kind <kind>', 'the kind of all files, if not by their names').choices(
            attachmentKinds,
          ),
        )
        .option('--head <sha>', 'the commit that the files are evidence for; by default the current head')
        .option('--json', 'print the attachments as JSON, for scripts')
        .addHelpText(
          'after',
          `
Examples:
  muster attach test-results/junit.xml --story WEB-12
  muster attach a.png --execution 01936d5c-0000-7000-8000-000000000002
  muster attach recording.webm --run`,
        ),
    )
    .action(async (files: string[], flags: AttachFlags) => {
      const { client } = await api.connect(flags);
      await attachFiles(client, files, flags);
    });
}

/** Finds the record that the flags name. Within a run the default is its execution. */
async function findTarget(
  client: Client,
  { story, execution, run }: AttachFlags,
): Promise<AttachmentTargetRef> {
  if ([story, execution, run].filter((flag) => flag !== undefined).length > 1)
    throw new UsageError('give only one of --story, --execution and --run');
  if (story !== undefined) return { targetType: 'story', targetId: story };
  if (execution !== undefined) return { targetType: 'execution', targetId: execution };
  const { MUSTER_EXECUTION_ID: ownExecution = '', MUSTER_RUN_ID: ownRun = '' } = process.env;
  if (typeof run !== 'string' && ownExecution !== '')
    return { targetType: 'execution', targetId: ownExecution };
  const runId = typeof run === 'string' ? run : ownRun;
  if (runId === '') throw new UsageError('name the target: --story, --execution or --run');
  const found = await client.agents.runs.get({ runId });
  if (found.execution === null) throw new UsageError(`the run ${runId} has no execution: use --story`);
  return { targetType: 'execution', targetId: found.execution.id };
}

async function attachFiles(client: Client, files: readonly string[], flags: AttachFlags): Promise<void> {
  // All files are checked before the first one is uploaded.
  for (const file of files) await requireAttachable(file);
  const target = await findTarget(client, flags);
  const items: Attachment[] = [];
  for (const file of files) {
    const content = await readFileToAttach(file, { kind: flags.kind });
    const attachment = await uploadFile(client, target, content, { headSha: flags.head });
    items.push(attachment);
    if (flags.json !== true)
      process.stdout.write(
        `${sanitizeForTerminal(`Attached ${attachment.name} (${attachment.kind}): ${attachment.id}`)}\n`,
      );
  }
  if (flags.json === true) process.stdout.write(`${terminalSafeJson({ items })}\n`);
}
