/** The reactions to a comment. The viewer adds and removes their own. */
import { useState } from 'react';
import { type Comment } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { LineIcon } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { errorText, showNotice } from '../components/notices.tsx';
import { commentTexts } from '../messages/story.ts';

const offeredEmojis = Object.keys(commentTexts.emojis) as (keyof typeof commentTexts.emojis)[];

const nameOf = (emoji: string): string =>
  (commentTexts.emojis as Readonly<Record<string, string>>)[emoji] ?? emoji;

interface ReactionsProps {
  readonly comment: Comment;
  readonly refetchThreads: () => Promise<unknown>;
}

function useReact({ comment: { id: commentId }, refetchThreads }: ReactionsProps) {
  const { comments } = useClient();
  return async (emoji: string, isOn: boolean): Promise<void> => {
    try {
      await comments.react({ commentId, emoji, on: isOn });
    } catch (error) {
      showNotice({ tone: 'bad', title: commentTexts.notReacted, body: errorText(error) });
    }
    await refetchThreads();
  };
}

export function ReactionMenu(props: ReactionsProps) {
  const { reactions, author } = props.comment;
  const react = useReact(props);
  const isMine = (emoji: string): boolean => reactions.some((one) => one.emoji === emoji && one.mine);
  return (
    <Menu
      label={commentTexts.react(author.name)}
      className="icon-button"
      items={offeredEmojis.map((emoji) => ({
        id: emoji,
        name: nameOf(emoji),
        icon: <span aria-hidden>{emoji}</span>,
        isChosen: isMine(emoji),
        run: () => void react(emoji, !isMine(emoji)),
      }))}
    >
      <LineIcon size={14}>
        <circle cx="8" cy="8" r="6" />
        <path d="M5.5 9.5c1.3 1.8 3.7 1.8 5 0M6 6.2v.3M10 6.2v.3" />
      </LineIcon>
    </Menu>
  );
}

export function Reactions(props: ReactionsProps) {
  const { reactions } = props.comment;
  const react = useReact(props);
  const [isBusy, setBusy] = useState(false);
  if (reactions.length === 0) return null;
  return (
    <div className="reactions">
      {reactions.map(({ emoji, count, mine }) => (
        <button
          key={emoji}
          type="button"
          className="chip reaction"
          aria-pressed={mine}
          aria-label={commentTexts.reaction(nameOf(emoji), count)}
          disabled={isBusy}
          onClick={() => {
            setBusy(true);
            void react(emoji, !mine).finally(() => setBusy(false));
          }}
        >
          {emoji} {count}
        </button>
      ))}
    </div>
  );
}
