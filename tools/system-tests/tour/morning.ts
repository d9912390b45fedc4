import { type BoardFile } from '@muster/import-files/board-file';
import { type Check } from './check.ts';
import { checkAnswers } from './checks/answers.ts';
import { checkKept } from './checks/kept.ts';
import { type Instance } from './instance.ts';
import { Journal } from './journal.ts';
import { Outing } from './outing.ts';
import { conversation } from './steps/conversation.ts';
import { convert } from './steps/convert.ts';
import { specs } from './steps/specs.ts';
import { creates, moves, planning } from './steps/stories.ts';
import { runAfternoon } from './steps/team-of-eight/afternoon.ts';
import { foundTeam } from './team.ts';
import { type TourStep, type Tour } from './tour-state.ts';

const morning: readonly TourStep[] = [specs, planning, moves, creates, conversation];

/** A team's morning on a board, and an afternoon of eight people with roles. */
export async function runTourDay(
  instance: Instance,
  boardFile: BoardFile,
  orgSlug: string,
): Promise<readonly Check[]> {
  const journal = new Journal(instance.baseUrl, orgSlug);
  const outing = new Outing();
  const team = await foundTeam(instance, journal, orgSlug);
  const checks = [outing.broken];
  let converted: Tour | undefined;
  const importBoard = async (): Promise<string> => {
    const { tour, line } = await convert(boardFile, team);
    converted = tour;
    return line;
  };
  await outing.step('The board comes in', importBoard, journal);
  if (converted === undefined) return [...checks, ...checkAnswers(journal.calls)];
  const tour = converted;
  for (const { name, run } of morning) await outing.step(name, () => run(tour), journal);
  const readBack = async (): Promise<string> => {
    checks.push(...(await checkKept(tour)));
    return `${tour.stories.size} stories, ${tour.specs.size} specs, ${tour.comments.size} comments`;
  };
  await outing.step('Everything is read back', readBack, journal);
  const afternoon = await runAfternoon(instance, outing);
  return [...checks, ...afternoon.checks, ...checkAnswers([...journal.calls, ...afternoon.calls])];
}
