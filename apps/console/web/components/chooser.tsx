/** A menu that a shortcut opens at a card or story: status, assignee, priority or reviewers. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type StoryCard, type StoryStatus } from '@muster/contract';
import { priorityNames } from '../board/filter.ts';
import { useClient } from '../data/context.ts';
import { agentsQuery, membersQuery } from '../data/people-queries.ts';
import { chooserTexts } from '../messages/choosing.ts';
import { t } from '../messages/index.ts';
import { type ChooserField } from './choosing.ts';
import { PriorityIcon, StatusIcon } from './icons.tsx';
import { MenuList, type MenuItem } from './menu.tsx';
import { announceToScreenReader, showNotice, errorText } from './notices.tsx';
import { Avatar } from './people.tsx';

/**
 * The values that the menu shows as current. If several stories are selected, a field in which they differ is
 * null.
 */
export type ChooserStory = Pick<StoryCard, 'id' | 'key' | 'assignees'> & {
  readonly status: StoryStatus | null;
  readonly priority: StoryCard['priority'] | null;
};

export interface ChooserProps {
  readonly what: ChooserField;
  readonly story: ChooserStory;
  /** Number of stories that the choice applies to. */
  readonly count?: number;
  readonly statuses: readonly StoryStatus[];
  readonly anchor: () => HTMLElement | null;
  /** Called with a status that differs from the current one. */
  readonly onStatus: (status: StoryStatus) => void;
  readonly onPriority: (priority: StoryCard['priority']) => void;
  readonly onAssign: (who: Partial<StoryCard['assignees']>) => void;
  readonly onClose: (isBack: boolean) => void;
}

export default function Chooser(props: ChooserProps) {
  const { what, story, statuses, onStatus, onPriority } = props;
  if (what === 'assignee') return <AssigneeChooser {...props} />;
  if (what === 'reviewer') return <ReviewerChooser {...props} />;
  const items: readonly MenuItem[] =
    what === 'status'
      ? statuses.map((status) => ({
          ...{ id: status, name: t.status[status], icon: <StatusIcon status={status} /> },
          isChosen: status === story.status,
          run: () => {
            if (status !== story.status) onStatus(status);
          },
        }))
      : priorityNames.map((priority) => ({
          ...{ id: priority, name: t.priority[priority], icon: <PriorityIcon priority={priority} /> },
          isChosen: priority === story.priority,
          run: () => {
            if (priority !== story.priority) onPriority(priority);
          },
        }));
  return <ChooserList {...props} items={items} isOneOf />;
}

const ChooserList = ({
  what,
  story,
  count = 1,
  anchor,
  onClose,
  items,
  isOneOf = false,
}: ChooserProps & { readonly items: readonly MenuItem[]; readonly isOneOf?: boolean }) => (
  <MenuList
    label={chooserTexts.titles[what](count > 1 ? chooserTexts.selected(count) : story.key)}
    items={items}
    anchor={anchor}
    isSingleChoice={isOneOf}
    onClose={onClose}
  />
);

interface Person {
  readonly id: string;
  readonly name: string;
}
const loadingItem: MenuItem = { id: 'loading', name: chooserTexts.loading, run: () => undefined };

function AssigneeChooser(props: ChooserProps) {
  const { story, onAssign } = props;
  const client = useClient();
  const members = useQuery(membersQuery(client));
  const agents = useQuery(agentsQuery(client));
  const { member, agent } = story.assignees;
  const choice = (
    kind: 'member' | 'agent',
    { id, name }: Person,
    isChosen: boolean,
    run: () => void,
  ): MenuItem => ({
    ...{ id, name, icon: <Avatar name={name} kind={kind} />, isChosen, run },
  });
  const among = <One extends Person>(all: readonly One[] | undefined, now: One | null): readonly One[] =>
    now === null || all?.some(({ id }) => id === now.id) === true ? (all ?? []) : [now, ...(all ?? [])];
  const items: readonly MenuItem[] = [
    {
      ...{ id: 'none', name: t.people.unassigned, isChosen: member === null },
      run: () => {
        if (member !== null) onAssign({ member: null });
      },
    },
    ...among<NonNullable<typeof member>>(members.data, member).map((one) =>
      choice('member', one, one.id === member?.id, () => {
        const { id, name, handle } = one;
        if (id !== member?.id) onAssign({ member: { id, name, handle } });
      }),
    ),
    ...among<Person>(agents.data, agent).map(({ id, name }) =>
      choice('agent', { id, name }, id === agent?.id, () =>
        onAssign({ agent: id === agent?.id ? null : { id, name } }),
      ),
    ),
    ...(members.isPending ? [loadingItem] : []),
  ];
  return <ChooserList {...props} items={items} isOneOf />;
}

function ReviewerChooser(props: ChooserProps) {
  const { id: storyId, key } = props.story;
  const client = useClient();
  const queries = useQueryClient();
  const members = useQuery(membersQuery(client));
  const reviewers = useQuery({
    queryKey: ['story', key, 'reviewers'],
    queryFn: () => Array.fromAsync(client.reviewers.list.all({ storyId, limit: 200 })),
    staleTime: 0,
  });
  const asked = new Map(
    reviewers.data?.flatMap(({ reviewer, verdict }) =>
      reviewer.kind === 'member' ? [[reviewer.memberId, verdict] as const] : [],
    ),
  );
  const ask = async ({ id: memberId, name }: Person): Promise<void> => {
    try {
      if (asked.has(memberId)) await client.reviewers.remove({ storyId, memberId });
      else await client.reviewers.add({ storyId, memberId });
      announceToScreenReader(
        asked.has(memberId) ? chooserTexts.notAsked(key, name) : chooserTexts.asked(key, name),
      );
    } catch (error) {
      showNotice({ tone: 'bad', title: chooserTexts.failed(key), body: errorText(error) });
    }
    await queries.invalidateQueries({ queryKey: ['story', key] });
  };
  // True once the list is complete. It waits for reviewers that were fetched after the menu opened, because
  // cached ones may be old. Later refetches do not hide the list.
  const isThere = members.data !== undefined && reviewers.data !== undefined && reviewers.isFetchedAfterMount;
  const items: readonly MenuItem[] = isThere
    ? // A verdict that was given stays, so its reviewer cannot be removed here.
      members.data
        .filter(({ id }) => (asked.get(id) ?? 'pending') === 'pending')
        .map(({ id, name }) => ({
          ...{ id, name, icon: <Avatar name={name} kind="member" />, isChosen: asked.has(id) },
          run: () => void ask({ id, name }),
        }))
    : [loadingItem];
  return <ChooserList {...props} items={items} />;
}
