import { type StoryCard } from '@muster/contract';
import { type ChooserField } from '../components/choosing.ts';
import { type Command } from '../components/commands.ts';
import { t } from '../messages/index.ts';

/** Returns the actions of the command palette for the story that had the focus last. */
export function storyCommands(
  card: StoryCard | undefined,
  canWrite: boolean,
  choose: (what: ChooserField, card: StoryCard) => void,
): Command[] {
  if (card === undefined || !canWrite) return [];
  return (['status', 'assignee', 'priority', 'reviewer'] as const).map((what) => ({
    ...{ id: `${what} ${card.id}`, name: t.palette.of(t.choose[what], card.key) },
    run: () => choose(what, card),
  }));
}
