/** A progress bar. The fill shows done stories, and its solid part shows landed ones. */
export const StoryProgressBar = ({
  totalStories,
  doneStories,
  landedStories,
  label,
}: {
  readonly totalStories: number;
  readonly doneStories: number;
  readonly landedStories?: number;
  readonly label: string;
}) => {
  const share = (count: number): string => `${totalStories === 0 ? 0 : (100 * count) / totalStories}%`;
  return (
    <div className="share" role="img" aria-label={label}>
      <span style={{ inlineSize: share(doneStories) }} />
      {landedStories !== undefined && <span data-solid style={{ inlineSize: share(landedStories) }} />}
    </div>
  );
};
