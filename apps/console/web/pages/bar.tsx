/** A progress bar. The fill shows done stories, and its solid part shows landed ones. */
export const Bar = ({
  total,
  done,
  landed,
  label,
}: {
  readonly total: number;
  readonly done: number;
  readonly landed?: number;
  readonly label: string;
}) => {
  const share = (count: number): string => `${total === 0 ? 0 : (100 * count) / total}%`;
  return (
    <div className="share" role="img" aria-label={label}>
      <span style={{ inlineSize: share(done) }} />
      {landed !== undefined && <span data-solid style={{ inlineSize: share(landed) }} />}
    </div>
  );
};
