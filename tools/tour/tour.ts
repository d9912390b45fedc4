// npm run tour -- [board.json]: a team's morning on a real board, and an afternoon of eight people with roles, through
// the API as everybody uses it, that check themselves. It runs on the instance of `npm start`, in organizations of its
// own, else on one that it brings up.
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { readBoardFile } from './board-file.ts';
import { checkAnswers } from './checks/answers.ts';
import { checkBoard } from './checks/board.ts';
import { checkTrail } from './checks/trail.ts';
import { checkWords } from './checks/words.ts';
import { Check } from './check.ts';
import { followActivity } from './follower.ts';
import { gather } from './gather.ts';
import { findInstance, type Instance } from './instance.ts';
import { Journal } from './journal.ts';
import { show, showCheck, showStep } from './show.ts';
import { board } from './steps/board.ts';
import { convert } from './steps/convert.ts';
import { conversation } from './steps/conversation.ts';
import { creates } from './steps/creates.ts';
import { doors } from './steps/doors.ts';
import { moves } from './steps/moves.ts';
import { pages } from './steps/pages.ts';
import { planning } from './steps/planning.ts';
import { reorders } from './steps/reorders.ts';
import { specEdits } from './steps/spec-edits.ts';
import { specs } from './steps/specs.ts';
import { spendAfternoon } from './steps/team-of-eight/afternoon.ts';
import { foundTeam } from './team.ts';
import { type Step, type Tour } from './tour-state.ts';

const morning: readonly Step[] = [
  specs,
  moves,
  reorders,
  creates,
  conversation,
  specEdits,
  planning,
  board,
  pages,
  doors,
];

const ownBoard = path.join(import.meta.dirname, 'board.json');

async function run(): Promise<boolean> {
  const [given, ...more] = process.argv.slice(2);
  if (more.length > 0 || given?.startsWith('-')) throw new Error('usage: npm run tour -- [board.json]');
  // npm runs scripts in the root of the repository; a path is meant from where the person stands.
  const file = given === undefined ? ownBoard : path.resolve(process.env['INIT_CWD'] ?? '.', given);
  const boardFile = await readBoardFile(file);
  const started = performance.now();
  const instance = await findInstance();
  try {
    const orgSlug = `tour-${randomBytes(4).toString('hex')}`;
    show(`Muster on tour with ${path.relative(process.cwd(), file)}`);
    show(`${instance.baseUrl} (${instance.is}), organization ${orgSlug}`);
    show('');
    const checks = await goOnTour(instance, boardFile, orgSlug);
    show('');
    for (const check of checks) showCheck(check);
    const failed = checks.filter(({ holds }) => !holds).length;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    show('');
    show(`${checks.length - failed} of ${checks.length} checks hold, in ${seconds} s`);
    if (failed > 0)
      show(['', 'What the API said last:', ...instance.tail().map((line) => `  ${line}`)].join('\n'));
    return failed === 0;
  } finally {
    await instance.stop();
  }
}

async function goOnTour(
  instance: Instance,
  boardFile: Parameters<typeof convert>[0],
  orgSlug: string,
): Promise<Check[]> {
  const journal = new Journal(instance.baseUrl, orgSlug);
  const broken = new Check('every step went through');
  let steps = 0;
  const step = async (name: string, work: () => Promise<string>, written = journal): Promise<void> => {
    const [begun, calls] = [performance.now(), written.calls.length];
    const line = await work().catch((error: unknown) => {
      broken.fail(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      return 'it broke off';
    });
    steps += 1;
    showStep(name, line, written.countSince(calls), performance.now() - begun);
  };

  const team = await foundTeam(instance, journal, orgSlug);
  let tour: Tour | undefined;
  await step('The board comes in', async () => {
    const converted = await convert(boardFile, team, journal);
    tour = converted.tour;
    return converted.line;
  });
  const checks = [broken];
  if (tour === undefined) return [...checks, ...checkAnswers(journal.calls)];
  const onTour = tour;
  const follower = followActivity(team.gwen);
  for (const { name, run: work } of morning) await step(name, () => work(onTour));
  await step('All is read back', async () => {
    const findings = await gather(onTour, instance, await follower.finish());
    const words = await checkWords(onTour, findings);
    checks.push(...checkBoard(onTour, findings), ...words, ...onTour.checks, ...checkTrail(onTour, findings));
    return `${findings.stories.length} stories, ${findings.activity.length} events, ${findings.audit.length} audit entries`;
  });
  const { checks: ofEight, calls } = await spendAfternoon(instance, step);
  broken.detail = `${steps} steps`;
  return [...checks, ...ofEight, ...checkAnswers([...journal.calls, ...calls])];
}

process.exitCode = await run().then(
  (fine) => (fine ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  },
);
