import { type BoardFile } from '@muster/board-file';
import { type Check } from './check.ts';
import { checkAnswers } from './checks/answers.ts';
import { checkBoard } from './checks/board.ts';
import { checkTrail } from './checks/trail.ts';
import { checkWords } from './checks/words.ts';
import { followActivity } from './follower.ts';
import { gather } from './gather.ts';
import { type Instance } from './instance.ts';
import { Journal } from './journal.ts';
import { Outing } from './outing.ts';
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

/** A team's morning on a board, and an afternoon of eight people with roles. */
export async function spendDay(
  instance: Instance,
  boardFile: BoardFile,
  orgSlug: string,
): Promise<readonly Check[]> {
  const journal = new Journal(instance.baseUrl, orgSlug);
  const outing = new Outing();
  const step = (name: string, work: () => Promise<string>): Promise<void> => outing.step(name, work, journal);

  const team = await foundTeam(instance, journal, orgSlug);
  let tour: Tour | undefined;
  await step('The board comes in', async () => {
    const converted = await convert(boardFile, team, journal);
    tour = converted.tour;
    return converted.line;
  });
  const checks = [outing.broken];
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
  const { checks: ofEight, calls } = await spendAfternoon(instance, outing.step);
  return [...checks, ...ofEight, ...checkAnswers([...journal.calls, ...calls])];
}
