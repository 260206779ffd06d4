// The package's Worker with a device that is lost when the page says so: "now", or "always", with all that come after it
// in this Worker.
importScripts("/web/tokamak-web/dist/worker.js");

const devices = [];
let always = false;
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function requestDevice(...asked) {
  devices.push(await request.apply(this, asked));
  if (always) devices.at(-1).destroy();
  return devices.at(-1);
};
new BroadcastChannel("lose").onmessage = ({ data }) => {
  always = data === "always";
  devices.at(-1).destroy();
};
