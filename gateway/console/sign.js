// Signing in with a token or key, and out again. Whoever was refused goes on where it was.

import { credential } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./words.js";

export function signIn(then, refused = false) {
  const dialog = byId("sign-in");
  byId("credential").value = "";
  byId("refused").hidden = !(refused && credential.get());
  dialog.returnValue = "cancel";
  dialog.onclose = () => {
    if (dialog.returnValue !== "ok") return;
    credential.set(byId("credential").value.trim());
    label();
    then?.();
  };
  if (!dialog.open) dialog.showModal();
}

// For a failure: asks who it is, when that is what failed.
export const known = (problem, then) => problem.status === 401 && signIn(then, true);

export function label() {
  byId("sign").textContent = t(credential.get() ? "signOut" : "sign");
}

export function toggle(then) {
  if (!credential.get()) return signIn(then);
  credential.set("");
  label();
  then();
}
