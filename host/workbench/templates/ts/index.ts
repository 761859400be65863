import { action, collection, defineFacade, integer, list, object, text } from "loggia-sdk";
import type { Infer } from "loggia-sdk";

const note = object({ id: text(), text: text() }, "A note.");

// Stored by the host. Nothing else outlives a call.
const notes = collection<Infer<typeof note>>("notes");

export default defineFacade({
  name: "{{name}}",
  summary: "Short notes kept between conversations.",
  needs: { store: "to keep the notes" },
  actions: {
    add: action({
      summary: "Add a note.",
      effect: "write",
      params: { text: text({ min: 1, max: 4000 }).doc("What the note says.") },
      data: note,
    }, (p) => notes.create("n_", (id) => ({ id, text: p.text }))),

    list: action({
      summary: "List the notes.",
      effect: "read",
      params: {
        limit: integer({ min: 1, max: 100 }).default(20),
        cursor: text().optional().doc("From the last answer, for the next part."),
      },
      data: list(note),
    }, (p) => notes.page(p.cursor, p.limit).reply()),
  },
});
