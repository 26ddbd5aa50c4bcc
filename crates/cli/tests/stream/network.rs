//! A network of two hosts that can be cut: two name spaces and a cable between them. Nothing outside of
//! them changes.

use std::process::Command;

/// Where the hub is in its name space.
pub(crate) const HUB: &str = "10.77.0.2";
const NODE: &str = "10.77.0.1";

/// Two hosts and a cable.
pub(crate) struct Network {
    node: String,
    hub: String,
}

impl Network {
    /// Nothing where name spaces may not be made.
    pub(crate) fn new() -> Option<Network> {
        let own = std::process::id();
        let network = Network { node: format!("netra-n{own}"), hub: format!("netra-h{own}") };
        let (node, hub) = (network.node.as_str(), network.hub.as_str());
        let cable =
            ["link", "add", "cable", "netns", node, "type", "veth", "peer", "name", "cable"];
        let made = ip(&["netns", "add", node])
            && ip(&["netns", "add", hub])
            && ip(&[&cable[..], &["netns", hub]].concat())
            && network.address(node, NODE)
            && network.address(hub, HUB);
        made.then_some(network)
    }

    fn address(&self, host: &str, address: &str) -> bool {
        let address = format!("{address}/24");
        ip(&["-n", host, "address", "add", &address, "dev", "cable"])
            && ip(&["-n", host, "link", "set", "cable", "up"])
            && ip(&["-n", host, "link", "set", "lo", "up"])
    }

    /// Whether the cable could be pulled out.
    pub(crate) fn cut(&self) -> bool {
        ip(&["-n", &self.hub, "link", "set", "cable", "down"])
    }

    /// Whether it could be put in again.
    pub(crate) fn mend(&self) -> bool {
        ip(&["-n", &self.hub, "link", "set", "cable", "up"])
    }

    /// The command on the node's host.
    pub(crate) fn on_node(&self, command: &Command) -> Command {
        on(&self.node, command)
    }

    /// The command on the hub's host.
    pub(crate) fn on_hub(&self, command: &Command) -> Command {
        on(&self.hub, command)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        ip(&["netns", "delete", &self.node]);
        ip(&["netns", "delete", &self.hub]);
    }
}

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).output().is_ok_and(|done| done.status.success())
}

/// The same command on another host. `ip` becomes the command, so its process is the command's.
fn on(host: &str, command: &Command) -> Command {
    let mut there = Command::new("ip");
    there.args(["netns", "exec", host]).arg(command.get_program()).args(command.get_args());
    there.env_clear().stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            there.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        there.current_dir(folder);
    }
    there
}
