import { Button } from '../frame/basics.tsx';

/** The end of a form of settings: what saves it, what takes the edits back, and whether they are stored. */
export function SaveRow({
  name,
  dirty,
  busy,
  saved,
  onUndo,
}: {
  /** Of the button. */
  readonly name: string;
  /** Something was edited. */
  readonly dirty: boolean;
  readonly busy: boolean;
  /** The last save went well. */
  readonly saved: boolean;
  readonly onUndo: () => void;
}) {
  return (
    <>
      <Button type="submit" kind="main" busy={busy} disabled={!dirty}>
        {name}
      </Button>
      {dirty && (
        <Button kind="quiet" onClick={onUndo}>
          Undo
        </Button>
      )}
      <span role="status" className="hint">
        {saved && !dirty ? 'Saved.' : ''}
      </span>
    </>
  );
}
