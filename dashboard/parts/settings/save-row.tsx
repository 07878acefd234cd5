import { Button } from '../frame/basics.tsx';

/** The end of a form of settings: what saves it, what takes the edits back, and whether they are stored. */
export function SaveRow({
  name,
  dirty,
  patch,
  undo,
}: {
  /** Of the button. */
  readonly name: string;
  /** Something was edited. */
  readonly dirty: boolean;
  /** The change that the form saves. */
  readonly patch: { readonly isPending: boolean; readonly isSuccess: boolean; readonly reset: () => void };
  /** Takes the edits back; the fault of a save that failed goes with them. */
  readonly undo: () => void;
}) {
  return (
    <>
      <Button type="submit" kind="main" busy={patch.isPending} disabled={!dirty}>
        {name}
      </Button>
      {dirty && (
        <Button
          kind="quiet"
          onClick={() => {
            undo();
            patch.reset();
          }}
        >
          Undo
        </Button>
      )}
      <span role="status" className="hint">
        {patch.isSuccess && !dirty ? 'Saved.' : ''}
      </span>
    </>
  );
}
