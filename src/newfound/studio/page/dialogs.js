/** Questions, asked in the page's one <dialog>. Focus goes back where it was by itself. */

import { find, make } from "./dom.js";

/**
 * @param {object} question
 * @param {string} question.title
 * @param {string} [question.text]
 * @param {string} question.yes the button that goes on
 * @param {boolean} [question.danger]
 * @param {{label: string, value?: string, type?: string, list?: string}} [question.field]
 * @param {string[]} [question.choices] labels to choose from, each a button
 * @returns {Promise<string|null>} what was typed or chosen ("" without a field); null: not now
 */
export function question({ title, text, yes, danger = false, field, choices = [] }) {
  const dialog = find("#dialog");
  if (dialog.open) dialog.close();
  return new Promise((resolve) => {
    let answer = null;
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    const input = field && make("input", {
      id: "dialog-field", type: field.type ?? "text", value: field.value ?? "", maxlength: 200,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", list: field.list,
      required: choices.length === 0,
    });
    const form = make("form", {
      onsubmit: (event) => {
        event.preventDefault();
        const typed = input ? input.value.trim() : "";
        if (!input || typed) close(typed);
      },
    },
    make("h2", { id: "dialog-title", text: title }),
    text ? make("p", { text }) : null,
    choices.length ? make("ul", { class: "choices" }, ...choices.map((label) => make("li", {},
      make("button", {
        type: "button", class: "quiet", text: label, data: { label }, onclick: () => close(label),
      })))) : null,
    input ? make("div", { class: "field" },
      make("label", { for: "dialog-field", text: field.label }), input) : null,
    make("div", { class: "buttons" },
      make("button", {
        type: "button", class: "quiet", text: "Cancel", onclick: () => close(null),
      }),
      make("button", { type: "submit", class: danger ? "danger" : "primary", text: yes })));
    dialog.replaceChildren(form);
    dialog.onclose = () => {
      dialog.replaceChildren();
      resolve(answer);
    };
    // A press outside closes it, as people expect; the form fills the dialog.
    dialog.onpointerdown = (event) => event.target === dialog && close(null);
    dialog.showModal();
    if (input && choices.length === 0) input.select();
  });
}
