"""What SREs run beside RadRAG, as code: rules, dashboards, and the settings of the tools that use them."""
