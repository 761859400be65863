"""A server with the tools of seed 003's arXiv example, by the official SDK. It answers from fixed data, as JSON in text."""

import json

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

PAPERS = {
    "2601.00001": {"title": "On the tides", "text": "The sea rises twice a day."},
    "2601.00002": {"title": "On the winds", "text": "Air moves from high to low pressure."},
}
DOWNLOADED = set()
server = MCPServer("arxiv")


@server.tool(structured_output=False)
def search_papers(query: str, max_results: int = 10) -> str:
    """Search for papers by words of their titles."""
    found = [{"id": id, "title": paper["title"]} for id, paper in PAPERS.items() if query.lower() in paper["title"].lower()]
    return json.dumps({"total_results": len(found), "papers": found[:max_results]}, indent=2)


@server.tool(structured_output=False)
def download_paper(paper_id: str) -> str:
    """Download a paper, so that it can be read."""
    if paper_id not in PAPERS:
        raise ToolError(f"there is no paper {paper_id}")
    DOWNLOADED.add(paper_id)
    return json.dumps({"status": "success", "paper_id": paper_id})


@server.tool(structured_output=False)
def read_paper(paper_id: str) -> str:
    """Read a paper that was downloaded."""
    if paper_id not in DOWNLOADED:
        raise ToolError(f"download the paper {paper_id} first")
    return json.dumps({"status": "success", "paper_id": paper_id, "content": PAPERS[paper_id]["text"]})


server.run()
